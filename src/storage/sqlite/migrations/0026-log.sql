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
