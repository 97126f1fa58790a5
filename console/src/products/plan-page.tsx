import { Alert, Code, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { getRouteApi } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import { PageHead } from '../parts/page-head.tsx'
import { PageLink } from '../parts/page-link.tsx'
import { Section } from '../parts/section.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'
import { PlanFields } from './plan-fields.tsx'
import { changesOf, planDraftOf } from './plan-draft.ts'
import { PlanMoves } from './plan-moves.tsx'
import type { Plan, PlanPath } from './plan.ts'
import { PricePreview } from './price-preview.tsx'
import { ReviewChanges } from './review-changes.tsx'

const route = getRouteApi('/$environment/products/$productRef/plans/$planRef')

/** Shows one plan: its rate card to edit, what a customer pays by it, and moves of its holders. */
export function PlanPage(): ReactElement {
  const { hooks, environment } = useApi()
  const path = route.useParams()
  const { productRef, planRef } = path
  const { data: plan } = hooks.useSuspenseQuery(
    'get',
    '/v1/sdk/products/{productRef}/plans/{planRef}',
    { params: { path: { productRef, planRef } } },
  )
  return (
    <Stack>
      <PageHead
        title={plan.name}
        text={
          <>
            <StatusBadge status={plan.status} /> <Code>{plan.reference}</Code> · {plan.type}
            {plan.billingModel === undefined ? '' : `, ${plan.billingModel}`}
            {plan.billingCycle === undefined ? '' : `, ${plan.billingCycle}`} ·{' '}
            <PageLink
              underline="always"
              to="/$environment/products/$productRef"
              params={{ environment, productRef }}
            >
              Product
            </PageLink>{' '}
            ·{' '}
            <PageLink
              underline="always"
              to="/$environment/purchases"
              params={{ environment }}
              search={{ plan: planRef }}
            >
              Purchases
            </PageLink>
          </>
        }
      />
      {/* A saved plan begins a new draft. */}
      <RateCard key={plan.updatedAt} plan={plan} path={path} />
      <Section title="Holders on other terms">
        <PlanMoves plan={plan} path={path} />
      </Section>
    </Stack>
  )
}

/** The preview waits until nothing was typed for so long. */
const typingDelayMs = 400

function RateCard(props: { readonly plan: Plan; readonly path: PlanPath }): ReactElement {
  const { plan, path } = props
  const refusal = useRefusal('manage')
  const [draft, setDraft] = useState(() => planDraftOf(plan))
  const read = changesOf(plan, draft)
  const [previewed] = useDebouncedValue(read, typingDelayMs)
  const isChanged = read.kind === 'fault' || Object.keys(read.changes).length > 0
  return (
    <>
      <Section
        title="Rate card"
        actions={
          read.kind === 'changes' &&
          isChanged && <ReviewChanges plan={plan} path={path} changes={read.changes} />
        }
      >
        <Stack gap="xs">
          {refusal !== undefined && <Text size="sm">{refusal} You can try prices here.</Text>}
          <PlanFields plan={plan} draft={draft} onChange={setDraft} />
          {read.kind === 'fault' && (
            <Alert variant="default" role="alert">
              {read.message}.
            </Alert>
          )}
        </Stack>
      </Section>
      <Section title="What a customer pays">
        <PricePreview
          plan={plan}
          path={path}
          charges={draft.charges}
          changes={previewed.kind === 'changes' ? previewed.changes : {}}
        />
      </Section>
    </>
  )
}
