-- Runs of a flow as columns, for analytics: all that started from `from_at` until before `to_at`, as they
-- stand in `runs`. A block whose runs change is deleted in the same transaction, and made anew later; what
-- no block covers is read from `runs`.
create table run_blocks (
  id integer primary key,
  org_id integer not null,
  flow_id integer not null,
  from_at integer not null,
  to_at integer not null,
  runs integer not null,
  -- How many versions the flow had, where the block would be another with one more; null else.
  flow_versions integer,
  columns blob not null
) strict;
create unique index run_blocks_by_start on run_blocks (org_id, flow_id, from_at);

-- People stand in blocks by a hash that nobody outside can know.
insert into server_state (name, value) values
  ('people_seed_1', random() % 2147483648),
  ('people_seed_2', random() % 2147483648);
