-- A unique index over ids in no order makes storing twenty times slower as it grows. What is stored
-- is known by these tables instead, and `storage/ids` keeps them; see there.
drop index events_by_id;

-- Many ids that were sealed together, cut into 2^bits chunks by their hash. `low` and `high` bound the
-- first halves of the hashes that it holds: all, but while it is merged into another.
create table event_id_runs (
  id integer primary key,
  level integer not null,
  bits integer not null,
  low integer not null,
  high integer not null,
  -- When the newest of its events was received.
  newest_at integer not null
) strict;

create table event_id_chunks (
  -- The run's id times 2^24, plus the chunk's number.
  place integer primary key,
  -- Tells, without reading the entries, that an id is surely not among them.
  filter blob not null,
  -- Rows of the ledger, first halves and second halves of the hashes of their ids.
  entries blob not null
) strict;

-- Nobody outside can know which ids fall into one place.
insert into server_state (name, value) values
  ('event_ids_seed_1', random() % 2147483648),
  ('event_ids_seed_2', random() % 2147483648),
  ('event_ids_sealed', 0);
