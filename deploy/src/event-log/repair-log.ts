import { join } from 'node:path'
import type { Output } from '@tollgate/platform/cli/output'
import { readSettings } from '@tollgate/platform/config/settings'
import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import { dropSegments } from '@tollgate/platform/event-log/files/drop-segments'
import { GroupPositions } from '@tollgate/platform/event-log/files/group-positions'
import { planLogRepair, type LostRange } from '@tollgate/platform/event-log/files/plan-log-repair'
import type { TopicCatalogue } from '@tollgate/platform/event-log/files/topic-catalogue'
import {
  verifySegments,
  type SegmentReport,
} from '@tollgate/platform/event-log/files/verify-segment'
import { openHotState } from '@tollgate/platform/hot-state/open-hot-state'
import { hotStateSettings } from '@tollgate/platform/hot-state/hot-state-settings'
import { openEnvironment } from '@tollgate/platform/lmdb/environment'
import { createLogger } from '@tollgate/platform/observability/logger'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { environments } from '@tollgate/schemas/environment'
import { readSinkNote } from '@tollgate/schemas/sink-note'
import { usageTopic } from '@tollgate/schemas/topics'
import type { DataFolder } from '../standalone/data-folder.ts'
import { lockFolder } from '../standalone/folder-lock.ts'
import { readTopics, requireLog } from './verify-log.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Drops damaged segments and all older ones if everything in them is counted and stored, that is, below the sink's position and
 * below the counters' fence. Otherwise it changes nothing and prints which records would be lost. Returns whether the log is whole.
 */
export async function repairLog(
  folder: DataFolder,
  environment: Environment,
  output: Output,
): Promise<boolean> {
  requireLog(folder)
  const lock = await lockFolder(folder.root)
  try {
    const reports: SegmentReport[] = []
    for await (const report of verifySegments(folder.log, async () => {})) reports.push(report)
    const topics = readTopics(folder.log)
    const plan = planLogRepair(reports, await readNeededOffsets(folder, environment, topics))
    if (plan.kind === 'nothing') {
      const text = ['All segments can be read. Nothing to repair.']
      output.show({ json: { isWhole: true, dropped: [] }, text })
      return true
    }
    if (plan.kind === 'refuse') {
      const lost = plan.lost.map((range) => describeLost(topics, range))
      output.show({
        json: { isWhole: false, reason: plan.reason, lost },
        text: [`Nothing is changed: ${plan.reason}.`, ...lost.map((line) => `  ${line}`)],
      })
      return false
    }
    const aside = join(folder.root, 'damaged-log')
    const copies = await dropSegments(folder.log, plan.upTo, plan.damaged, aside)
    const first = plan.upTo + 1
    output.show({
      json: {
        isWhole: true,
        firstSegment: first,
        dropped: plan.damaged.map(({ number }) => number),
        copies,
      },
      text: [
        `The log begins at segment ${first}. Everything before it is stored in ClickHouse.`,
        ...copies.map((copy) => `A copy of the damaged file is in ${copy}.`),
      ],
    })
    return true
  } finally {
    await lock.release()
  }
}

/** Returns for each stream the first offset that is not both counted and stored. */
async function readNeededOffsets(
  { root, groups }: DataFolder,
  environment: Environment,
  topics: TopicCatalogue,
): Promise<number[]> {
  const needed = new Array<number>(topics.streamCount).fill(0)
  const settings = { ...hotStateSettings, dataDir: dataDirSetting }
  const config = readSettings(settings, { ...environment, [dataDirSetting.variable]: root })
  const hotState = await openHotState(config, 'projection', createLogger('log-repair', 'error'))
  const store = await openEnvironment({
    folder: groups,
    content: 'record of consumer positions',
    formatVersion: 1,
    access: 'write',
    createdWithinMs: 0,
  })
  try {
    const positions = new GroupPositions(store)
    for (const each of environments) {
      const topic = topics.find(usageTopic(each))
      if (topic === undefined) continue
      for (let partition = 0; partition < topic.partitionCount; partition += 1) {
        const { offset, note } = positions.read(sinkGroup, topic.name, partition)
        // The note is empty until a sink has used the position, so nothing counts as stored before that.
        const stored = readSinkNote(note) === undefined ? 0 : offset
        const counted = await hotState.appliedOffset(each, partition)
        needed[topic.firstStream + partition] = Math.min(stored, counted)
      }
    }
    return needed
  } finally {
    await store.close()
    await hotState.close()
  }
}

function describeLost(topics: TopicCatalogue, { stream, fromOffset, toOffset }: LostRange): string {
  const of = topics.entries
    .map(({ name }) => topics.find(name)!)
    .find(
      (topic) => stream >= topic.firstStream && stream < topic.firstStream + topic.partitionCount,
    )
  const where = of === undefined ? `stream ${stream}` : `${of.name}/${stream - of.firstStream}`
  return `${where}: records ${fromOffset} to ${toOffset - 1} are not both counted and stored in ClickHouse`
}
