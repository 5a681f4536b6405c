-- Indexes over texts in no order cost a page or more for every row. Runs and completions are found by
-- hash indexes instead, as event ids are, and `storage/hash-index` keeps them; see there.

alter table event_id_runs rename to event_id_segments;

create table runs_by_key_segments (
  id integer primary key,
  level integer not null,
  bits integer not null,
  low integer not null,
  high integer not null,
  newest_at integer not null
) strict;
create table runs_by_key_chunks (
  place integer primary key,
  filter blob not null,
  entries blob not null
) strict;

create table runs_by_person_segments (
  id integer primary key,
  level integer not null,
  bits integer not null,
  low integer not null,
  high integer not null,
  newest_at integer not null
) strict;
create table runs_by_person_chunks (
  place integer primary key,
  filter blob not null,
  entries blob not null
) strict;

create table completions_by_person_segments (
  id integer primary key,
  level integer not null,
  bits integer not null,
  low integer not null,
  high integer not null,
  newest_at integer not null
) strict;
create table completions_by_person_chunks (
  place integer primary key,
  filter blob not null,
  entries blob not null
) strict;

-- Only people who have, or once had, loose facts need their runs in order.
alter table runs add column has_loose integer not null default 0;
update runs set has_loose = 1
where (org_id, flow_id, person) in (select org_id, flow_id, person from loose_facts);
drop index runs_by_key;
drop index runs_by_person;
create index runs_of_loose_people on runs (org_id, flow_id, person, started_at, run_key)
  where has_loose = 1;

-- When a person was first reported to have completed a flow; apart from `progress`, which only people
-- with ticks have, because it is written for every run that is completed.
create table completions (
  id integer primary key,
  org_id integer not null,
  flow_id integer not null,
  person text not null,
  reported_at integer not null
) strict;
create index completions_by_flow on completions (org_id, flow_id);
insert into completions (org_id, flow_id, person, reported_at)
select org_id, flow_id, person, reported_at from progress where reported_at is not null;
delete from progress where checklist_at is null and last_tick_at is null;
alter table progress drop column reported_at;

insert into server_state (name, value) values
  ('row_index_seed_1', random() % 2147483648),
  ('row_index_seed_2', random() % 2147483648),
  ('runs_sealed', 0),
  ('completions_sealed', 0),
  -- Grows when another process than the server has replaced rows.
  ('rows_replaced', 0);
