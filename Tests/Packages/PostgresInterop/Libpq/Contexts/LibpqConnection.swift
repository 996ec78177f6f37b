// Sample 4 of AsynchronousConnections.md

// Sample 5 of AsynchronousConnections.md
