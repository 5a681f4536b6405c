-- Only copied to the nodes, which read it there.
create table requested_sends (
  id bigint primary key,
  org_id bigint not null,
  kind text not null,
  address text,
  at bigint not null
);
