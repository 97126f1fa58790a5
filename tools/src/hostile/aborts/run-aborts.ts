import { laneRandoms, runLanes, times } from '../../load/lanes.ts'
import { abortStages, sendAndAbort, type AbortOutcome } from './abort-connection.ts'
import { nextAbortRequest } from './abort-request.ts'

/** State of a record as known by the client: not sent completely, unanswered, accepted or refused. */
export type RecordState = 'cut' | 'unanswered' | 'acked' | 'refused'

export type AbortRun = {
  readonly recordStates: ReadonlyMap<string, RecordState>
  readonly statuses: ReadonlyMap<number, number>
  /** Answers that must not occur. */
  readonly violations: readonly string[]
}

export type AbortRunOptions = {
  readonly baseUrl: string
  readonly key: string
  readonly seed: number
  readonly aborts: number
  readonly onAbort: () => void
}

const lanes = 48
/** Deliberate refusal under load. Any other status from 500 on is a violation. */
const unavailable = 503

/** Opens the given number of connections, each of which its client closes at some stage. */
export async function runAborts(options: AbortRunOptions): Promise<AbortRun> {
  const { hostname: host, port } = new URL(options.baseUrl)
  const recordStates = new Map<string, RecordState>()
  const statuses = new Map<number, number>()
  const violations: string[] = []
  let records = 0
  const nextRecordKey = (): string => `${options.seed}:${records++}`

  const randoms = laneRandoms(options.seed, lanes)
  await runLanes(lanes, times(options.aborts), async (lane) => {
    const random = randoms[lane]!
    const request = nextAbortRequest(random, options.key, nextRecordKey)
    const stage = random.pick(abortStages)
    const outcome = await sendAndAbort({ host, port: Number(port) }, request, stage, random)
    for (const key of request.recordKeys) recordStates.set(key, recordStateOf(outcome))
    const status = outcome.answer?.status
    if (status !== undefined) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status !== undefined && status >= 500 && status !== unavailable) {
      violations.push(`a client that left ${stage} was answered ${status} ${outcome.answer?.body}`)
    }
    options.onAbort()
  })
  return { recordStates, statuses, violations }
}

function recordStateOf({ isComplete, answer }: AbortOutcome): RecordState {
  if (answer) return answer.status === 200 ? 'acked' : 'refused'
  return isComplete ? 'unanswered' : 'cut'
}
