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
  // PostgreSQL only frees its shared memory when it is asked to end.
  await stopRecorded(join(folder, 'engines', 'postgres'))
  await killDescendants()
}
