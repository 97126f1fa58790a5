import type { Sql } from 'postgres'

/** Sees and writes the rows of the provider that its transaction names; see `provider-rows.ts`. */
export const requestsRole = 'tollgate_requests'

/** Sees the rows of all providers: publishing, housekeeping, looking up keys, the operator's commands. */
export const jobsRole = 'tollgate_jobs'

/**
 * Makes the two roles that the services work as. Neither owns anything, so both are held to the tables' policies. The
 * login that migrates becomes a member: with one login for everything the services take the roles on from it.
 */
export async function ensureRoles(sql: Sql): Promise<void> {
  try {
    for (const role of [requestsRole, jobsRole]) await ensureRole(sql, role)
  } catch (error) {
    if ((error as { code?: unknown }).code !== insufficientPrivilege) throw error
    throw new Error(await advice(sql), { cause: error })
  }
}

const insufficientPrivilege = '42501'

/** Roles belong to the whole server: another database's migration may make them at the same moment. */
async function ensureRole(sql: Sql, role: string): Promise<void> {
  await sql.unsafe(`
    do $$ begin
      if not exists (select from pg_roles where rolname = '${role}') then
        create role ${role} nologin;
      end if;
    exception when duplicate_object or unique_violation then null;
    end $$`)
  const [found] = await sql<{ is_held: boolean; is_used: boolean }[]>`
    select not (rolsuper or rolbypassrls) as is_held, pg_has_role(oid, 'usage') as is_used
    from pg_roles where rolname = ${role}`
  if (found?.is_held !== true) {
    throw new Error(`The role ${role} of PostgreSQL must have neither SUPERUSER nor BYPASSRLS.`)
  }
  if (!found.is_used) await sql.unsafe(`grant ${role} to current_user`)
}

async function advice(sql: Sql): Promise<string> {
  const [login] = await sql<{ name: string }[]>`select quote_ident(current_user) as name`
  return (
    `The login ${login!.name} of PostgreSQL may not take on the roles of Tollgate. Let an administrator run, where they are missing: ` +
    `create role ${requestsRole} nologin; create role ${jobsRole} nologin; then: ` +
    `grant ${requestsRole}, ${jobsRole} to ${login!.name};`
  )
}
