// Sample 1 of README.md
