import { startTrial } from '@tollgate/domain/billing/start-trial'
import { findCustomer } from '@tollgate/domain/customers/repository'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import type {
  MigratedPurchaseBody,
  PlanMigrationBody,
  PlanMigrationInput,
} from '@tollgate/schemas/http/plan-migrations'
import { operationIn } from '../money/operation-in.ts'
import { RenewalStack } from './renewal-stack.ts'

const june = '2026-06-01T00:00:00Z'

/** A provider with plans whose holders are moved. */
export class MigrationStack {
  readonly renewals: RenewalStack

  private constructor(renewals: RenewalStack) {
    this.renewals = renewals
  }

  static async start(): Promise<MigrationStack> {
    return new MigrationStack(await RenewalStack.start())
  }

  stop(): Promise<void> {
    return this.renewals.stop()
  }

  get payments() {
    return this.renewals.payments
  }

  setTime(at: string): void {
    this.payments.stack.clock.set(at)
  }

  /** Ends what earlier tests left, and sets the time. */
  async reset(): Promise<void> {
    this.setTime(june)
    await this.renewals.endAll()
    await this.renewals.sql`update plan_migrations set status = 'cancelled'`
  }

  createPlan(fields: object): Promise<string> {
    return this.payments.createPlan({ billingCycle: 'monthly', ...fields })
  }

  async changePlan(planRef: string, fields: object): Promise<void> {
    const { status, body } = await this.payments.call('PUT', this.planPath(planRef), fields)
    if (status !== 200) throw new Error(JSON.stringify(body))
  }

  planPath(planRef: string): string {
    return `/v1/sdk/products/${this.payments.productRef}/plans/${planRef}`
  }

  async migrate(
    planRef: string,
    input: Partial<PlanMigrationInput> & Pick<PlanMigrationInput, 'when'>,
  ): Promise<PlanMigrationBody> {
    const path = `${this.planPath(planRef)}/migrations`
    const { status, body } = await this.payments.call<PlanMigrationBody>('POST', path, input)
    if (status !== 201) throw new Error(JSON.stringify(body))
    return body
  }

  async read({ planRef, reference }: PlanMigrationBody): Promise<PlanMigrationBody> {
    const path = `${this.planPath(planRef)}/migrations/${reference}`
    return (await this.payments.call<PlanMigrationBody>('GET', path)).body
  }

  async move({ planRef, reference }: PlanMigrationBody, move: string) {
    const path = `${this.planPath(planRef)}/migrations/${reference}/${move}`
    return this.payments.call<PlanMigrationBody>('POST', path)
  }

  async purchasesOf({
    planRef,
    reference,
  }: PlanMigrationBody): Promise<ReadonlyMap<string, MigratedPurchaseBody>> {
    const path = `${this.planPath(planRef)}/migrations/${reference}/purchases?limit=100`
    const { body } = await this.payments.call<{ purchases: MigratedPurchaseBody[] }>('GET', path)
    return new Map(body.purchases.map((each) => [each.purchaseRef, each]))
  }

  /** Processes all migrations, with pages of this size. */
  async process(at: string, pageMax = 200): Promise<void> {
    const settings = { TOLLGATE_PLAN_MIGRATION_PAGE_MAX: String(pageMax) }
    await this.renewals.runJob('plan-migrations', at, settings)
  }

  async changeAndRenew(at: string): Promise<void> {
    await this.renewals.runJob('renewals', at)
    await this.renewals.runJob('plan-changes', at)
    await this.renewals.runJob('renewals', at)
  }

  /** Starts the trial of a plan for a new customer with a saved card. */
  async startTrial(planRef: string): Promise<Purchase> {
    const { payments } = this
    const now = new Date(payments.stack.clock.now())
    this.setTime('2026-04-01T00:00:00Z')
    const otherRef = await this.createPlan({ price: 1_000 })
    const { customerRef } = await this.renewals.buy(otherRef)
    await this.renewals.sql`
      update purchases set status = 'expired', ended_at = '2026-04-02T00:00:00Z'
      where customer_ref = ${customerRef}`
    this.setTime(now.toISOString())
    const { providerId } = payments.tenant
    const operation = operationIn(providerId, now)
    const { result } = await runUnitOfWork(payments.stack.database, operation, async (work) => {
      const customer = (await findCustomer(work.sql, providerId, customerRef))!
      const { productRef } = payments
      return startTrial(work, { customer, productRef, planRef, cycleMode: 'calendar' })
    })
    if (result.kind !== 'started') throw new Error(result.kind)
    return result.purchase
  }

  /** Returns the purchase that gives the customer access. */
  async held(customerRef: string): Promise<Purchase> {
    const purchases = await this.renewals.purchasesOf(customerRef)
    const held = purchases.find(({ status }) => ['active', 'trialing', 'past_due'].includes(status))
    if (held === undefined) throw new Error(`customer ${customerRef} has no plan`)
    return held
  }

  async totalsOf(purchaseRef: string): Promise<bigint[]> {
    const invoices = await this.renewals.invoicesOf(purchaseRef)
    return invoices.map(({ totalMinor }) => totalMinor)
  }
}
