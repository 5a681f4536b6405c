-- How many days raw events are kept; null where the server's setting holds.
alter table organisations add column retention_days integer;

-- Of which flows the retention has deleted events, and until when those occurred. What runs, ticks and
-- completions say of that time cannot be made anew: a rebuild takes it as it is.
create table deleted_events (
  org_id integer not null,
  flow_id integer not null,
  last_at integer not null,
  primary key (org_id, flow_id)
) strict, without rowid;

-- Dead letters that a command has asked to be stored after all, and what became of them; null until the
-- storage thread has tried.
create table dead_letter_retries (
  letter integer primary key,
  org_id integer not null,
  verdict text check (verdict in ('stored', 'duplicate', 'refused'))
) strict;
