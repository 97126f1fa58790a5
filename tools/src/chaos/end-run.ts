import { join } from 'node:path'
import { stopRecorded } from '../engines/stop-recorded.ts'
import { killDescendants } from '../instance/process-tree.ts'

/** Ends every process of a run on the engines, at any moment of it. `services` is undefined until they are started. */
export async function endRun(
  folder: string,
  services: { kill(): Promise<void> } | undefined,
): Promise<void> {
  // After this no supervisor starts the services again. Processes that are still starting are descendants of this process.
  await services?.kill()
  // PostgreSQL frees its shared memory only if it gets a stop signal.
  await stopRecorded(join(folder, 'engines', 'postgres'))
  await killDescendants()
}
