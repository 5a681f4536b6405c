-- Several machines follow one log: what each of them needs for that.

-- JSON: which events of the batch published flows asked for when it was stored, [place, most, goalOf] each.
alter table event_batches add column asked text;

-- The log that this database follows, and how far it has come; no row for a server alone.
create table log_position (
  only_one integer primary key check (only_one = 1),
  log text not null,
  seq integer not null,
  mark text not null,
  at integer not null
) strict;

-- What a server alone has in memory: author sessions and links to previews, as JSON.
create table short_lived (
  kind text not null,
  id text not null,
  content text not null,
  primary key (kind, id)
) strict, without rowid;

-- The organisations whose activity somebody watches, and what arrives for them meanwhile.
create table watched (
  org_id integer primary key,
  -- A new one each time somebody begins to watch or somebody is erased.
  name text not null,
  since integer not null,
  asked_at integer not null,
  -- Everything that arrived, including what is not kept.
  count integer not null
) strict;
create table watched_events (
  org_id integer not null,
  number integer not null,
  -- JSON.
  event text not null,
  primary key (org_id, number)
) strict, without rowid;

-- Up to which moment old events are deleted, and how many days they are kept. Whenever they are to be kept for
-- longer, a row is added: every machine first deletes what the rows before it say, so that all have the same.
create table retention_state (
  id integer primary key,
  at integer not null,
  days integer not null,
  -- JSON object: the days of organisations that have a number of their own, by row.
  own_days text not null,
  -- Where the log was when the row was added: what is older than this may lack what the rows before it are about.
  since integer not null
) strict;

-- What a server alone has in files: its session key, and versions of the snippet.
create table shared_files (
  name text primary key,
  content text not null
) strict, without rowid;

-- The rebuilds that were asked for: every machine makes each of them.
create table rebuilds (
  id integer primary key,
  at integer not null
) strict;

-- The latest line about each person on the list of erasures, which every machine has as a file too.
create table listed_erasures (
  org text not null,
  key text not null,
  person text not null,
  action text not null,
  -- Epoch milliseconds.
  at integer not null,
  primary key (org, key, person)
) strict;
