// Sample 1 of AdoptingInAShippedApp.md
