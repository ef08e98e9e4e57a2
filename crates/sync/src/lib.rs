//! Sans-I/O replication: frames, cursors, both ends' state machines.
