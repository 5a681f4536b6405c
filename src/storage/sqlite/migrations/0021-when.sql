-- How many times a day a person is interrupted at most; null for as often as flows are due.
alter table organisations add column throttle integer;

-- What people have caused, of the custom events that published flows wait for: JSON of the latest times,
-- each as minutes since 1970 and a mark by which a page knows its own events.
create table caused_events (
  org_id integer not null,
  person text not null,
  name text not null,
  times text not null,
  primary key (org_id, person, name)
) strict, without rowid;

-- Who was held back from a version of a flow, and when first.
create table held_out (
  org_id integer not null,
  flow_id integer not null,
  person text not null,
  version integer not null,
  at integer not null,
  primary key (org_id, flow_id, person, version)
) strict, without rowid;

-- When people last reached the goal of a flow, by the name of its event.
create table goals (
  org_id integer not null,
  flow_id integer not null,
  person text not null,
  name text not null,
  last_at integer not null,
  primary key (org_id, flow_id, person, name)
) strict, without rowid;
