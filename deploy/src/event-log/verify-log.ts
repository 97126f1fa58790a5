import { existsSync } from 'node:fs'
import { readSegmentHeader, listSegments } from '@tollgate/platform/event-log/files/segment-files'
import type { TopicCatalogue } from '@tollgate/platform/event-log/files/topic-catalogue'
import {
  verifySegments,
  type SegmentReport,
} from '@tollgate/platform/event-log/files/verify-segment'
import type { DataFolder } from '../standalone/data-folder.ts'
import { StartRefusedError } from '../standalone/start-refused.ts'

type Say = (line: string) => void

const atOnce = async (): Promise<void> => {}

/** Says of each segment whether it can be read. Returns whether all can. */
export async function verifyLog(folder: DataFolder, say: Say): Promise<boolean> {
  requireLog(folder)
  let isWhole = true
  for await (const report of verifySegments(folder.log, atOnce)) {
    isWhole &&= report.state === 'whole'
    say(lineOf(report))
  }
  if (!isWhole) say('See "A damaged log" in docs/operations.md.')
  return isWhole
}

export function requireLog({ log, root }: DataFolder): void {
  if (existsSync(log)) return
  throw new StartRefusedError(
    `There is no event log in ${root}. Name its folder with TOLLGATE_DATA_DIR.`,
  )
}

function lineOf({ number, state, reason, path, heads, nextHeads }: SegmentReport): string {
  const records =
    heads === undefined || nextHeads === undefined
      ? 'records unknown'
      : `${nextHeads.reduce((sum, head, stream) => sum + head - (heads[stream] ?? 0), 0)} records`
  return `segment ${number}: ${state}, ${records}${reason === undefined ? '' : `: ${reason} (${path})`}`
}

/** The topics of the log, from the newest segment whose header can be read. */
export function readTopics(logFolder: string): TopicCatalogue {
  for (const number of listSegments(logFolder).reverse()) {
    try {
      return readSegmentHeader(logFolder, number).topics
    } catch {
      // An older one names the same topics.
    }
  }
  throw new StartRefusedError(`No segment in ${logFolder} has a header that can be read.`)
}
