-- What several machines share. Times are epoch milliseconds; all numbers are below 2^53. Keys are compared by
-- their bytes, because an index in a language's order becomes wrong with an update of the operating system.

-- One row: the sequencer. Whoever appends to the log has it locked.
create table cairn_clock (
  only_one boolean primary key default true check (only_one),
  -- Identifies this log, for the directories that follow it.
  log text not null,
  -- The form in which the log is written.
  format integer not null,
  seq bigint not null,
  -- Drawn anew with each group, so that a database that has lost some is recognised.
  mark text not null,
  -- The latest time of anything in the log. It never goes back.
  at bigint not null,
  -- The number of the last group that changes what management keeps. Events alone do not.
  changed bigint not null default 0,
  -- A directory that is not as far as this may still have what was erased, and is filled anew.
  erased bigint not null default 0,
  -- Where the data is now, if it was moved out of here.
  moved_to text
);

-- The marks of the last groups.
create table cairn_marks (
  seq bigint primary key,
  mark text not null,
  at bigint not null
);

-- The ledger: a row a batch of events.
create table cairn_ledger (
  seq bigint primary key,
  org_id bigint not null,
  received_at bigint not null,
  source integer not null,
  events integer not null,
  asked text,
  -- The events, as each machine keeps them.
  body bytea not null
);
-- Where it is long, it is compressed already.
alter table cairn_ledger alter column body set storage external;

-- Every row of the other tables that all machines have, as it is now.
create table cairn_rows (
  name text collate "C" not null,
  -- A JSON array: the values of the primary key.
  key text collate "C" not null,
  -- Null if the row is deleted.
  content json,
  seq bigint not null,
  primary key (name, key)
);
create index cairn_rows_by_seq on cairn_rows (seq, name, key);

-- Copies of a machine's database, with which others begin.
create table cairn_snapshots (
  id text primary key,
  seq bigint not null,
  mark text not null,
  schema integer not null,
  release text not null,
  bytes bigint not null,
  sha256 text not null,
  made_at bigint not null
);
create table cairn_snapshot_parts (
  snapshot text not null,
  place integer not null,
  body bytea not null,
  primary key (snapshot, place)
);
alter table cairn_snapshot_parts alter column body set storage external;

create table cairn_nodes (
  id text primary key,
  -- For people.
  name text not null,
  release text not null,
  -- The schema of its own database.
  schema integer not null,
  started_at bigint not null,
  -- The last change of what management keeps that it knows.
  took_up bigint not null,
  -- Up to where it has carried out every erasure.
  erased bigint not null default 0,
  -- By the clock of this server.
  lease_until timestamptz not null
);

-- What one machine does at a time.
create table cairn_jobs (
  name text primary key,
  holder text not null,
  until timestamptz not null
);
