import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasEnded, startTimeOf } from '@tollgate/platform/processes/process-identity'
import type { EngineName } from './engine-names.ts'

/** One started server, recorded for later commands. */
export type ProcessRecord = {
  readonly engine: EngineName
  /** Name of the server's folder and log, for example `kafka-2`. */
  readonly name: string
  readonly pid: number
  /** Distinguishes the process from a later one with the same process id. */
  readonly startTime: string | undefined
  readonly port: number
  readonly stopSignal: NodeJS.Signals
  readonly logPath: string
}

/**
 * Writes the record of a process. It is synchronous and called right after the launch, so that a process is never left unrecorded.
 */
export function writeProcessRecord(folder: string, record: ProcessRecord): void {
  writeFileSync(fileIn(folder), `${JSON.stringify(record, null, 2)}\n`)
}

export function readProcessRecord(folder: string): ProcessRecord | undefined {
  try {
    return (JSON.parse(readFileSync(fileIn(folder), 'utf8')) as ProcessRecord | null) ?? undefined
  } catch {
    // The file is missing, or was truncated by a full disk. In both cases no process is known.
    return undefined
  }
}

export function removeProcessRecord(folder: string): void {
  rmSync(fileIn(folder), { force: true })
}

/** Returns whether the recorded process is running. Another process that reuses its process id does not count. */
export function isRunning({ pid, startTime }: ProcessRecord): boolean {
  return startTime !== undefined && !hasEnded(pid) && startTimeOf(pid) === startTime
}

function fileIn(folder: string): string {
  return join(folder, 'process.json')
}
