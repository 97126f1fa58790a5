import { Alert, Code, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState, type ReactElement } from 'react'
import { PageHead } from '../parts/page-head.tsx'
import { PageLink } from '../parts/page-link.tsx'
import { Section } from '../parts/section.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'
import { PlanFields } from './plan-fields.tsx'
import { beginDraft, changesOf, isOutdated } from './plan-draft.ts'
import { PlanMoves } from './plan-moves.tsx'
import type { Plan, PlanPath } from './plan.ts'
import { PricePreview } from './price-preview.tsx'
import { ReviewChanges, SavedMeanwhile } from './review-changes.tsx'

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
      <RateCard key={plan.reference} plan={plan} path={path} />
      <Section title="Holders on other terms">
        <PlanMoves plan={plan} path={path} />
      </Section>
    </Stack>
  )
}

/** The preview waits until nothing was typed for so long. */
const typingDelayMs = 400

/** Shows the draft of the plan. It stays as it is typed while the plan is read again. */
function RateCard(props: { readonly plan: Plan; readonly path: PlanPath }): ReactElement {
  const { plan, path } = props
  const refusal = useRefusal('manage')
  const [begun, setBegun] = useState(() => beginDraft(plan))
  const read = useMemo(() => changesOf(begun), [begun])
  const [previewed] = useDebouncedValue(read, typingDelayMs)
  const beginAgain = (): void => {
    setBegun(beginDraft(plan))
  }
  const isEdited = read.kind === 'fault' || Object.keys(read.changes).length > 0
  const isSavedMeanwhile = isOutdated(begun.plan, plan)
  // A draft without changes loses nothing.
  if (isSavedMeanwhile && !isEdited) beginAgain()
  return (
    <>
      <Section
        title="Rate card"
        actions={
          read.kind === 'changes' &&
          isEdited && (
            <ReviewChanges
              plan={begun.plan}
              path={path}
              changes={read.changes}
              onSaved={(saved) => {
                setBegun(beginDraft(saved))
              }}
              onDiscard={beginAgain}
            />
          )
        }
      >
        <Stack gap="xs">
          {refusal !== undefined && <Text size="sm">{refusal} You can try prices here.</Text>}
          {isSavedMeanwhile && <SavedMeanwhile onDiscard={beginAgain} />}
          <PlanFields
            plan={begun.plan}
            draft={begun.draft}
            onChange={(draft) => {
              setBegun({ ...begun, draft })
            }}
          />
          {read.kind === 'fault' && (
            <Alert variant="default" role="alert">
              {read.message}.
            </Alert>
          )}
        </Stack>
      </Section>
      <Section title="What a customer pays">
        <PricePreview
          plan={begun.plan}
          path={path}
          charges={begun.draft.charges}
          changes={previewed.kind === 'changes' ? previewed.changes : {}}
        />
      </Section>
    </>
  )
}
