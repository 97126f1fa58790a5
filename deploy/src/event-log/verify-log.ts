import { existsSync } from 'node:fs'
import { readSegmentHeader, listSegments } from '@tollgate/platform/event-log/files/segment-files'
import type { Output } from '@tollgate/platform/cli/output'
import type { TopicCatalogue } from '@tollgate/platform/event-log/files/topic-catalogue'
import {
  verifySegments,
  type SegmentReport,
} from '@tollgate/platform/event-log/files/verify-segment'
import type { DataFolder } from '../standalone/data-folder.ts'
import { StartRefusedError } from '../standalone/start-refused.ts'

const withoutPause = async (): Promise<void> => {}

/** Prints for each segment whether it can be read. Returns whether all of them can be read. */
export async function verifyLog(folder: DataFolder, output: Output): Promise<boolean> {
  requireLog(folder)
  const reports: SegmentReport[] = []
  for await (const report of verifySegments(folder.log, withoutPause)) {
    reports.push(report)
    output.note(describeSegment(report))
  }
  const isWhole = reports.every(({ state }) => state === 'whole')
  const segments = reports.map((report) => ({
    number: report.number,
    state: report.state,
    records: recordsIn(report) ?? null,
    reason: report.reason ?? null,
    path: report.path,
  }))
  output.show({ json: { isWhole, segments }, text: [] })
  return isWhole
}

export function requireLog({ log, root }: DataFolder): void {
  if (existsSync(log)) return
  throw new StartRefusedError(
    `There is no event log in ${root}. Name its folder with TOLLGATE_DATA_DIR.`,
  )
}

function describeSegment(report: SegmentReport): string {
  const { number, state, reason, path } = report
  const records = recordsIn(report) ?? 'unknown'
  const why = reason === undefined ? '' : `: ${reason} (${path})`
  return `segment ${number}: ${state}, records: ${records}${why}`
}

function recordsIn({ heads, nextHeads }: SegmentReport): number | undefined {
  if (heads === undefined || nextHeads === undefined) return undefined
  return nextHeads.reduce((sum, head, stream) => sum + head - (heads[stream] ?? 0), 0)
}

/** Returns the topics of the log, from the newest segment with a readable header. */
export function readTopics(logFolder: string): TopicCatalogue {
  for (const number of listSegments(logFolder).reverse()) {
    try {
      return readSegmentHeader(logFolder, number).topics
    } catch {
      // An older segment contains the same topics.
    }
  }
  throw new StartRefusedError(`No segment in ${logFolder} has a header that can be read.`)
}
