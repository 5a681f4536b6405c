-- When a snippet key that was rotated away was used, whether it still worked or not.
alter table presence add column old_key_used_first integer;
alter table presence add column old_key_used_last integer;
