// Sample 9 of Testing.md
