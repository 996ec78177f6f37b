// Sample 4 of AsynchronousConnections.md
