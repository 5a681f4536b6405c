-- What is asked for by person stands in order: a page of a B-tree for a row that is stored costs less than
-- looking, for each answer, through all rows that no segment of a hash index has yet.
drop table runs_by_person_segments;
drop table runs_by_person_chunks;
create index runs_by_person on runs (org_id, flow_id, person, started_at);

drop table completions_by_person_segments;
drop table completions_by_person_chunks;
drop index completions_by_flow;
alter table completions rename to completions_by_row;
create table completions (
  org_id integer not null,
  flow_id integer not null,
  person text not null,
  reported_at integer not null,
  primary key (org_id, flow_id, person)
) strict, without rowid;
insert into completions
select org_id, flow_id, person, min(reported_at) from completions_by_row
group by org_id, flow_id, person;
drop table completions_by_row;
delete from server_state where name = 'completions_sealed';
