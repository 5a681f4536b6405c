-- Whether the organisation heeds browsers that ask not to be tracked.
alter table organisations add column honours_do_not_track integer not null default 0
  check (honours_do_not_track in (0, 1));
