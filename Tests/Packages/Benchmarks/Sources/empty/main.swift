// The program that a start is held against: the Swift runtime, and nothing to do.
