-- Where a flow was pushed from last: JSON of repository, commit and path; null where nobody said.
alter table flows add column source text;
-- Whether it is changed there alone.
alter table flows add column is_locked integer not null default 0;
