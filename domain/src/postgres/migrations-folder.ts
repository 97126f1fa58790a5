import { fileURLToPath } from 'node:url'

/** The SQL files of all schemas, from the sources as from the build. */
export const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url))
