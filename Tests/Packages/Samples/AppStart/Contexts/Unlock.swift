// Sample 2 of AdoptingInAShippedApp.md
