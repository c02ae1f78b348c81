"""Where calls that became tasks are kept and worked on: in this process, or on an engine."""
