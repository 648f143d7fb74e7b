-- What each role may do in PostgreSQL. Run by the owner of the database, after the first migration and as often as one likes:
--     psql "$OWNER_URL" -v ON_ERROR_STOP=1 -f database.sql
-- The owner alone changes the schema (numbridge ratings migrate); the service runs with NUMBRIDGE_MIGRATE=off.
-- Passwords are given apart:  ALTER ROLE numbridge_ratings PASSWORD '…'

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'numbridge_ratings') THEN
    CREATE ROLE numbridge_ratings LOGIN;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'numbridge_reader') THEN
    CREATE ROLE numbridge_reader LOGIN;
  END IF;
END
$$;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO numbridge_ratings, numbridge_reader;

-- The ratings service: rows, never the schema. What operators did is only ever added to.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO numbridge_ratings;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO numbridge_ratings;
REVOKE UPDATE, DELETE, TRUNCATE ON audit FROM numbridge_ratings;
REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON alembic_version FROM numbridge_ratings;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO numbridge_ratings;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO numbridge_ratings;

-- For numbridge archive export, reports, backups.
GRANT SELECT ON ALL TABLES IN SCHEMA public TO numbridge_reader;
GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO numbridge_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO numbridge_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON SEQUENCES TO numbridge_reader;
