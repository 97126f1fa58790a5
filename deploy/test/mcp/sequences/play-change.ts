import { expect } from 'vitest'
import type { PaymentIntentBody } from '@tollgate/schemas/http/payment-intents'
import { originTools, type Party, type Tool } from './party.ts'
import type { Player } from './player.ts'
import { nextMark } from './play-call.ts'
import type { Step } from './step.ts'

type Played<Do extends Step['do']> = Extract<Step, { readonly do: Do }>

/** Plays a change. The service may refuse it, so the resulting limits are read afterwards. */
export async function playChange(party: Party, { change, who }: Played<'change'>): Promise<void> {
  const player = party.players[who]!
  const { client } = party.market
  const { reference: customerRef } = player
  const { productRef, planRefs } = party
  switch (change) {
    case 'buy pro':
      return buy(party, player)
    case 'activate credits':
    case 'activate free': {
      const planRef = change === 'activate free' ? planRefs.free : planRefs.credits
      await client.send('POST', '/v1/sdk/activate', { customerRef, productRef, planRef })
      return
    }
    case 'cancel':
    case 'reactivate': {
      const purchase = await findPurchase(party, player, ['active', 'trialing', 'past_due'])
      if (purchase === undefined) return
      await client.send('POST', `/v1/sdk/purchases/${purchase}/${change}`, {})
      return
    }
    case 'refund':
      return refund(party, player)
    case 'grant credits':
      await client.send('POST', `/v1/sdk/customers/${customerRef}/credits`, { credits: 250 })
  }
}

async function purchasesOf({ market }: Party, { reference }: Player) {
  const path = `/v1/sdk/purchases/customer/${reference}`
  const { purchases } = (await market.client.require('GET', path, undefined)) as {
    purchases: { reference: string; status: string }[]
  }
  return purchases
}

async function findPurchase(party: Party, player: Player, statuses: readonly string[]) {
  const purchases = await purchasesOf(party, player)
  return purchases.find(({ status }) => statuses.includes(status))?.reference
}

async function buy(party: Party, player: Player): Promise<void> {
  const { market, productRef, planRefs } = party
  const { client } = market
  const customerRef = player.reference
  const request = { customerRef, productRef, planRef: planRefs.pro }
  const intent = await client.send('POST', '/v1/sdk/payment-intents', request, nextMark(party))
  if (intent.status >= 300) return
  const { processorPaymentId } = intent.body as PaymentIntentBody
  await stripe(party, `payment_intents/${processorPaymentId}/confirm`, {
    payment_method: 'pm_card_visa',
    return_url: 'https://shop.example/back',
  })
  player.paymentIds.push(processorPaymentId)
  const path = `/v1/sdk/payment-intents/${processorPaymentId}/process`
  // The answer is `timeout` while the success is not stored yet.
  const process = async () =>
    ((await client.require('POST', path, { customerRef })) as { status: string }).status
  await expect.poll(process, { timeout: 60_000 }).toBe('succeeded')
}

async function refund(party: Party, player: Player): Promise<void> {
  const payment = player.paymentIds.pop()
  if (payment === undefined) return
  const before = await purchasesOf(party, player)
  const isDone = await stripe(party, 'refunds', { payment_intent: payment })
  if (!isDone || before.every(({ status }) => status !== 'active')) return
  // The service learns about the refund from the processor.
  const countRefunded = async () =>
    (await purchasesOf(party, player)).filter(({ status }) => status === 'refunded').length
  const refundedBefore = before.filter(({ status }) => status === 'refunded').length
  await expect.poll(countRefunded, { timeout: 20_000 }).toBeGreaterThan(refundedBefore)
}

async function stripe({ market }: Party, path: string, form: Record<string, string>) {
  const answer = await fetch(`${market.world.simulator.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk_test_sequences' },
    body: new URLSearchParams(form),
  })
  await answer.arrayBuffer()
  return answer.ok
}

/** The provider changes the access of a tool, its plans or its product. */
export async function playConfigure(party: Party, step: Played<'configure'>): Promise<void> {
  const { market, productRef, planRefs, name, dropped } = party
  const { client, world } = market
  const { configuration, tool } = step
  const product = `/v1/sdk/products/${productRef}`
  switch (configuration) {
    case 'public':
      return mapTool(party, tool, { planKeys: [], noPlan: true })
    case 'every plan':
      return mapTool(party, tool, { planKeys: ['free', 'pro', 'credits'] })
    case 'pro alone':
      return mapTool(party, tool, { planKeys: ['pro'] })
    case 'default plan alone':
      return mapTool(party, tool, { planKeys: [] })
    case 'drop': {
      world.origin.list(
        name,
        originTools.filter((each) => each !== tool && !dropped.has(each)),
      )
      await discover(party)
      dropped.add(tool)
      return
    }
    case 'bring back':
      world.origin.list(name, originTools)
      await discover(party)
      dropped.clear()
      return
    case 'archive pro':
      await client.send('PUT', `${product}/plans/${planRefs.pro}`, { status: 'archived' })
      party.archivedRefs.add(planRefs.pro)
      return
    case 'suspend product':
    case 'resume product': {
      const status = configuration === 'suspend product' ? 'suspended' : 'active'
      await client.require('PUT', product, { status })
      return
    }
    case 'delete product':
      await client.require('DELETE', product, undefined)
      party.isDeleted = true
  }
}

type Mapping = {
  readonly planKeys: readonly ('free' | 'pro' | 'credits')[]
  readonly noPlan?: true
}

async function mapTool(party: Party, tool: string, mapping: Mapping): Promise<void> {
  const { market, productRef, planRefs, tools, dropped, archivedRefs } = party
  const path = `/v1/sdk/products/${productRef}/mcp/plans`
  const request = { toolMapping: [{ name: tool, ...mapping }] }
  const { status } = await market.client.send('PUT', path, request)
  const isKnown = mapping.planKeys.every((key) => !archivedRefs.has(planRefs[key]))
  expect(status, JSON.stringify(mapping)).toBe(isKnown ? 200 : 400)
  if (!isKnown) return
  const before: Tool = tools.get(tool) ?? { access: 'plans', planRefs: [] }
  dropped.delete(tool)
  if (mapping.noPlan === true) {
    tools.set(tool, { access: 'public', planRefs: [] })
    return
  }
  // Customers with an archived plan keep the tools of that plan.
  const kept = before.planRefs.filter((each) => archivedRefs.has(each))
  const named = mapping.planKeys.map((key) => planRefs[key])
  tools.set(tool, { access: 'plans', planRefs: [...named, ...kept] })
}

async function discover({ market, productRef, tools }: Party): Promise<void> {
  await market.client.require('POST', `/v1/ui/products/${productRef}/mcp/discover`, {})
  // Tools that the provider has not configured are open to the default plan.
  for (const each of ['new', 'Basic']) tools.set(each, { access: 'plans', planRefs: [] })
}
