import { copiesVariable } from '@tollgate/platform/testing/copied-postgres'
import { makeTemporaryFolder } from '../src/standalone/temporary-folder.ts'

/** Creates the folder of the data folders from which this run's PostgreSQL servers are copied, once for both projects. */
export default async function provideCopies(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[copiesVariable] !== undefined) return undefined
  const folder = await makeTemporaryFolder('test-postgres')
  process.env[copiesVariable] = folder.path
  return () => folder.remove()
}
