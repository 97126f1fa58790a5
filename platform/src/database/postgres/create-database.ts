import postgres from 'postgres'

/** Creates the database of the given name on the server of the address, where it is not there yet, as a copy of another. */
export async function createDatabase(
  serverUrl: string,
  name: string,
  template = 'template1',
): Promise<void> {
  const sql = postgres(serverUrl, { max: 1, connect_timeout: 10, onnotice: () => {} })
  try {
    const found = await sql`SELECT 1 FROM pg_database WHERE datname = ${name}`
    if (found.length === 0) await sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(template)}`
  } finally {
    await sql.end({ timeout: 5 })
  }
}
