// Sample 1 of ShowingProgress.md
