import { setTimeout as sleep } from 'node:timers/promises'
import type { ChargeInvoice } from '@tollgate/domain/charging/charge-invoice'
import { createSavedCardCharger } from '@tollgate/domain/charging/charge-saved-card'
import { rechargeWallets } from '@tollgate/domain/charging/recharge-wallets'
import { reconcilePayments } from '@tollgate/domain/settlement/reconcile-payments'
import { removeProcessorCustomers } from '@tollgate/domain/settlement/remove-processor-customers'
import { workOffInbox } from '@tollgate/domain/settlement/work-off-inbox'
import type { PublicationSpace } from '@tollgate/domain/publications/repository'
import { createLogger } from '@tollgate/platform/observability/logger'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { takeBackCredits } from '../../../control-plane/src/jobs/take-back-credits.ts'
import { createJobs, type JobParts } from '../../../billing-runner/src/jobs/job-catalogue.ts'
import { workSlot } from '../../../billing-runner/src/jobs/work-slot.ts'
import type { Installation } from './installation.ts'
import { KilledError, Life } from './mortal.ts'
import { Random } from './random.ts'

/** Hears that a job has had its run in an environment, and whether somebody died meanwhile. */
export type OnRun = (job: string, environment: Environment, isKilled: boolean) => Promise<void>

const logger = createLogger('test', 'silent')
const stillMs = 20

/** A process that dies has had no more effects than that. */
const effectsMax = 12

type Kills = {
  readonly seed: number
  /** Of a hundred processes, how many die. */
  readonly killsPercent: number
}

/** Longer than any claim of the control plane's jobs. */
const claimedMs = 150_000

/** Longer than a wallet that nothing moves is left alone. */
const lookedAtMs = 660_000

/** Runs what the schedules want, as runners do that are killed at times, and what the control plane does of itself. */
export class Scheduler {
  readonly #installation: Installation
  readonly #killsPercent: number
  /** One for each space, because they are worked in at the same time. */
  readonly #randoms: Readonly<Record<PublicationSpace, Random>>
  /** The latest slot that has ended, of each job and space. */
  readonly #ended = new Map<string, number>()
  kills = 0

  constructor(installation: Installation, { seed, killsPercent }: Kills) {
    this.#installation = installation
    this.#killsPercent = killsPercent
    const randomOf = (number: number): Random => new Random(4 * seed + number)
    this.#randoms = { control: randomOf(1), sandbox: randomOf(2), live: randomOf(3) }
  }

  async runJobs(onRun: OnRun): Promise<void> {
    const { runnerConfig, clock } = this.#installation
    const now = new Date(clock.now())
    for (const { job, schedule, spaces } of createJobs(runnerConfig, this.#jobParts(undefined))) {
      const slot = schedule?.latestSlot(now)
      if (slot === undefined) continue
      // Payments that are to be withdrawn are so when the rest of what they paid for is charged.
      if (job.name === 'payment-retries') await this.runPayments()
      const workOff = async (space: PublicationSpace): Promise<void> => {
        const key = `${job.name} ${space}`
        if (this.#ended.get(key) === slot.getTime()) return
        const killsBefore = this.kills
        await this.#workOff(job.name, space, slot)
        this.#ended.set(key, slot.getTime())
        if (space !== 'control') await onRun(job.name, space, this.kills > killsBefore)
      }
      await Promise.all(spaces.map(workOff))
    }
  }

  /** All that Stripe has to tell is told and followed, and payments are looked at whose time has come. */
  async runPayments(): Promise<void> {
    const { simulator, clock } = this.#installation
    await simulator.admin('clock', { advanceSeconds: 0 })
    while (Number((await simulator.admin('webhooks/flush'))['sent']) > 0);
    const killsBefore = this.kills
    await this.living('control', async (life) => {
      // What a process that died had claimed is another's after a while.
      if (this.kills > killsBefore) clock.set(clock.now() + claimedMs)
      const parts = this.#installation.payments(life)
      const credits = this.#installation.credits(life)
      for (const environment of environments) {
        while (await workOffInbox(parts, environment));
        while (await reconcilePayments(parts, environment));
        while (await takeBackCredits(credits, environment));
        while (await removeProcessorCustomers(parts, environment));
      }
    })
  }

  /** Wallets that have run low are filled up. */
  async runRecharges(): Promise<void> {
    const { clock } = this.#installation
    const killsBefore = this.kills
    await this.living('control', async (life) => {
      // What a process that died had looked at is looked at again after a while.
      if (this.kills > killsBefore) clock.set(clock.now() + lookedAtMs)
      const parts = this.#installation.payments(life)
      for (const environment of environments) {
        while (await reconcilePayments(parts, environment));
        while (await rechargeWallets(parts, environment));
      }
    })
  }

  /** Does it in one process after the other, until one has done it and lives. */
  async living<Result>(
    space: PublicationSpace,
    act: (life: Life) => Promise<Result>,
  ): Promise<Result> {
    const random = this.#randoms[space]
    for (;;) {
      const dies = random.happens(this.#killsPercent)
      const life = new Life(dies ? random.between(0, effectsMax) : undefined)
      try {
        const result = await act(life)
        if (!life.isOver) return result
      } catch (error) {
        // What a dead process says of its end is not heard.
        if (!life.isOver && !(error instanceof KilledError)) throw error
      }
      this.kills += 1
    }
  }

  async #workOff(name: string, space: PublicationSpace, at: Date): Promise<void> {
    const { runnerConfig: limits } = this.#installation
    const never = new AbortController().signal
    await this.living(space, async (life) => {
      const jobs = createJobs(limits, this.#jobParts(this.#chargeFor(life)))
      const { job } = jobs.find((scheduled) => scheduled.job.name === name)!
      const parts = { publisher: this.#installation.publisher(life), logger, limits }
      for (;;) {
        const when = { at, isByHand: false }
        const outcome = await workSlot(parts, job, space, when, never, () => undefined)
        if (outcome === 'ended' || life.isOver) return
        await sleep(stillMs)
      }
    })
  }

  #jobParts(charge: ChargeInvoice | undefined): JobParts {
    const { clock, stack } = this.#installation
    return { charge, clock, eventLog: stack.eventLog, usageStore: stack.usageStore }
  }

  #chargeFor(life: Life): ChargeInvoice {
    return createSavedCardCharger(this.#installation.payments(life))
  }
}
