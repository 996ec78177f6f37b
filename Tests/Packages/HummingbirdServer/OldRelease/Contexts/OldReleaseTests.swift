// Sample 10 of Testing.md
