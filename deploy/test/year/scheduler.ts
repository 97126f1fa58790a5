import { setTimeout as sleep } from 'node:timers/promises'
import type { ChargeInvoice } from '@tollgate/domain/charging/charge-invoice'
import { createSavedCardCharger } from '@tollgate/domain/charging/charge-saved-card'
import { rechargeWallets } from '@tollgate/domain/charging/recharge-wallets'
import { reconcilePayments } from '@tollgate/domain/settlement/reconcile-payments'
import { removeProcessorCustomers } from '@tollgate/domain/settlement/remove-processor-customers'
import { processInbox } from '@tollgate/domain/settlement/process-inbox'
import type { PublicationSpace } from '@tollgate/domain/publications/repository'
import { createLogger } from '@tollgate/platform/observability/logger'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { takeBackCredits } from '../../../control-plane/src/jobs/take-back-credits.ts'
import { createJobs, type JobParts } from '../../../billing-runner/src/jobs/job-catalogue.ts'
import { processSlot } from '../../../billing-runner/src/jobs/process-slot.ts'
import type { Installation } from './installation.ts'
import { KilledError, KillSwitch } from './kill-after-effects.ts'
import { Random } from './random.ts'

/** Called when a job has run in an environment, with whether a process was killed during it. */
export type OnRun = (job: string, environment: Environment, isKilled: boolean) => Promise<void>

const logger = createLogger('test', 'silent')
const stillMs = 20

/** Maximum number of effects of a process that dies. */
const effectsMax = 12

type Kills = {
  readonly seed: number
  /** Percentage of processes that die. */
  readonly killsPercent: number
}

/** Milliseconds longer than any claim of the control plane's jobs. */
const claimedMs = 150_000

/** Milliseconds longer than an unchanged wallet goes without a check. */
const lookedAtMs = 660_000

/** Runs the scheduled jobs in runners that are sometimes killed, and the background work of the control plane. */
export class Scheduler {
  readonly #installation: Installation
  readonly #killsPercent: number
  /** One random source for each space, because the spaces are processed concurrently. */
  readonly #randoms: Readonly<Record<PublicationSpace, Random>>
  /** Latest completed slot of each job and space. */
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
      // Payments to be cancelled are cancelled before the rest of what they paid for is charged.
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

  /** Delivers all webhooks, processes them, and reconciles due payments. */
  async runPayments(): Promise<void> {
    const { simulator, clock } = this.#installation
    await simulator.admin('clock', { advanceSeconds: 0 })
    while (Number((await simulator.admin('webhooks/flush'))['sent']) > 0);
    const killsBefore = this.kills
    await this.withProcess('control', async (killSwitch) => {
      // Claims of a killed process expire after some time.
      if (this.kills > killsBefore) clock.set(clock.now() + claimedMs)
      const parts = this.#installation.payments(killSwitch)
      const credits = this.#installation.credits(killSwitch)
      for (const environment of environments) {
        while (await processInbox(parts, environment));
        while (await reconcilePayments(parts, environment));
        while (await takeBackCredits(credits, environment));
        while (await removeProcessorCustomers(parts, environment));
      }
    })
  }

  /** Runs automatic top-ups. */
  async runRecharges(): Promise<void> {
    const { clock } = this.#installation
    const killsBefore = this.kills
    await this.withProcess('control', async (killSwitch) => {
      // Wallets that a killed process had checked are checked again after some time.
      if (this.kills > killsBefore) clock.set(clock.now() + lookedAtMs)
      const parts = this.#installation.payments(killSwitch)
      for (const environment of environments) {
        while (await reconcilePayments(parts, environment));
        while (await rechargeWallets(parts, environment));
      }
    })
  }

  /** Repeats the act in new processes until one survives it. */
  async withProcess<Result>(
    space: PublicationSpace,
    act: (killSwitch: KillSwitch) => Promise<Result>,
  ): Promise<Result> {
    const random = this.#randoms[space]
    for (;;) {
      const dies = random.happens(this.#killsPercent)
      const killSwitch = new KillSwitch(dies ? random.between(0, effectsMax) : undefined)
      try {
        const result = await act(killSwitch)
        if (!killSwitch.isKilled) return result
      } catch (error) {
        // Errors of a dead process are ignored.
        if (!killSwitch.isKilled && !(error instanceof KilledError)) throw error
      }
      this.kills += 1
    }
  }

  async #workOff(name: string, space: PublicationSpace, at: Date): Promise<void> {
    const { runnerConfig: limits } = this.#installation
    const never = new AbortController().signal
    await this.withProcess(space, async (killSwitch) => {
      const jobs = createJobs(limits, this.#jobParts(this.#chargeFor(killSwitch)))
      const { job } = jobs.find((scheduled) => scheduled.job.name === name)!
      const parts = { publisher: this.#installation.publisher(killSwitch), logger, limits }
      for (;;) {
        const when = { at, isByHand: false }
        const outcome = await processSlot(parts, job, space, when, never, () => undefined)
        if (outcome === 'ended' || killSwitch.isKilled) return
        await sleep(stillMs)
      }
    })
  }

  #jobParts(charge: ChargeInvoice | undefined): JobParts {
    const { clock, stack } = this.#installation
    const { eventLog, hotState, usageStore } = stack
    return { charge, clock, eventLog, hotState, usageStore }
  }

  #chargeFor(killSwitch: KillSwitch): ChargeInvoice {
    return createSavedCardCharger(this.#installation.payments(killSwitch))
  }
}
