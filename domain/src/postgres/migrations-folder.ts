import { fileURLToPath } from 'node:url'

/** Folder of the SQL files of all schemas. The path is the same in the sources and in the build. */
export const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url))
