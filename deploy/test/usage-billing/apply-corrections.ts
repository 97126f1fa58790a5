import {
  applyCorrection,
  correctionLeaseMs,
} from '@tollgate/control-plane/usage-corrections/apply-correction'
import type { AppendRecords } from '@tollgate/control-plane/usage-corrections/append-records'
import type { CorrectionParts } from '@tollgate/control-plane/usage-corrections/correction-parts'
import { claimCorrections } from '@tollgate/domain/usage-corrections/repository'
import { correctionEvent } from '@tollgate/ingest/domain/correction-events'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { publisherOf } from '../../../billing-runner/src/open-parts.ts'
import type { RunnerStack } from '../../../billing-runner/test/runner-stack.ts'

/* Workers that apply corrections of usage beside a billing runner, and may die. */

/** When a worker dies: before its page is in the log, after half of it or after all of it. `late`: its lease ends while it works. */
export type Flaw = 'none' | 'before' | 'half' | 'after' | 'late'

const topic = usageTopic('sandbox')

/** Applies the provider's corrections until none is left, or until the worker dies. */
export async function applyCorrections(
  runner: RunnerStack,
  providerId: string,
  flaw: Flaw = 'none',
): Promise<void> {
  const sql = runner.database.in('sandbox')
  const leaseMs = flaw === 'late' ? 1 : correctionLeaseMs
  for (;;) {
    const [claimed] = await claimCorrections(sql, { rowsMax: 1, leaseMs, providerId })
    if (claimed === undefined) return
    try {
      await applyCorrection(correctionPartsOf(runner, flaw), 'sandbox', claimed, () => false)
    } catch (error) {
      if ((error as Error).message !== 'died') throw error
      return
    }
  }
}

export function correctionPartsOf(runner: RunnerStack, flaw: Flaw = 'none'): CorrectionParts {
  const { parts } = runner
  const append = appendTo(runner)
  const appendRecords: AppendRecords = async (holder, records) => {
    if (flaw === 'before') throw new Error('died')
    const half = records.slice(0, Math.ceil(records.length / 2))
    await append(holder, flaw === 'half' ? half : records)
    if (flaw === 'half' || flaw === 'after') throw new Error('died')
  }
  return {
    ...parts,
    publisher: publisherOf(parts),
    appendRecords,
    correctionLimits: {
      ...{ pageRecords: 2, storedWaitMs: 20_000, previewRecordsMax: 100, waitMs: 0 },
      ...{ triesMax: 10, retryAfterMs: 3_600_000 },
    },
  }
}

/** Appends records like ingest. */
function appendTo({ parts: { eventLog }, clock }: RunnerStack): AppendRecords {
  return async ({ providerId }, records) => {
    const encoded = records.map((record) => {
      const event = correctionEvent(record, providerId, clock.now())
      const buffer = Buffer.alloc(2_000)
      const value = buffer.subarray(0, encodeMeterEvent(event, buffer, 0))
      const subject = subjectKey(providerId, event.customerRef)
      return { partition: partitionOf(subject, eventLog.partitionCount(topic)), value }
    })
    await eventLog.appendAll(topic, encoded, clock.now())
  }
}
