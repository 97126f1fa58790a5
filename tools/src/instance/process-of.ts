import type { RunFile } from '@tollgate/deploy/standalone/run-file'

/** Returns the id of a part's process. */
export function processOf({ processes }: RunFile, part: string): number {
  const pid = processes[part]
  if (pid === undefined) throw new Error(`No process of ${part} in the run file`)
  return pid
}
