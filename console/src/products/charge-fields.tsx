import { Button, Fieldset, Group, NativeSelect, Stack, TextInput } from '@mantine/core'
import type { ReactElement } from 'react'
import { newRow, newTier, type ChargeDraft, type RowDraft, type TierDraft } from './charge-draft.ts'
import { modelNames } from './describe-charge.ts'
import styles from './plan-fields.module.css'

type Props = {
  readonly label: string
  readonly currency: string
  readonly meters: readonly string[]
  readonly charge: ChargeDraft
  readonly onChange: (charge: ChargeDraft) => void
  readonly onRemove: () => void
}

const models = Object.keys(modelNames) as (keyof typeof modelNames)[]

/** Shows one charge of a plan as fields. */
export function ChargeFields(props: Props): ReactElement {
  const { label, currency, meters, charge, onChange, onRemove } = props
  const { model, pricedIn } = charge
  const hasTiers = model === 'graduated' || model === 'volume'
  const unit = pricedIn === 'credits' ? 'credits' : currency
  const text = (field: 'price' | 'unitsPerPackage' | 'included' | 'cap', name: string) => (
    <TextInput
      label={name}
      inputMode="decimal"
      value={charge[field]}
      onChange={(event) => {
        onChange({ ...charge, [field]: event.currentTarget.value })
      }}
    />
  )
  return (
    <Fieldset legend={`${label}: ${charge.rest.displayName ?? charge.meter}`}>
      <Stack gap="xs">
        <div className={styles['fields']}>
          <NativeSelect
            label="Meter"
            value={charge.meter}
            onChange={(event) => {
              onChange({ ...charge, meter: event.currentTarget.value })
            }}
            data={meters.includes(charge.meter) ? [...meters] : [charge.meter, ...meters]}
          />
          <NativeSelect
            label="Model"
            value={model}
            onChange={(event) => {
              const next = models.find((each) => each === event.currentTarget.value)
              if (next !== undefined) onChange(withModel(charge, next))
            }}
            data={models.map((value) => ({ value, label: modelNames[value] }))}
          />
          <NativeSelect
            label="Priced in"
            value={pricedIn}
            onChange={(event) => {
              const next = event.currentTarget.value === 'credits' ? 'credits' : 'money'
              onChange({ ...charge, pricedIn: next })
            }}
            data={[
              { value: 'money', label: currency },
              { value: 'credits', label: 'Credits' },
            ]}
          />
          {!hasTiers &&
            text('price', `Price per ${model === 'package' ? 'package' : 'unit'} in ${unit}`)}
          {model === 'package' && text('unitsPerPackage', 'Units per package')}
          {text('included', 'Included units')}
          {text('cap', 'Limit of units')}
        </div>
        {hasTiers && <Tiers charge={charge} unit={unit} onChange={onChange} />}
        {model === 'matrix' && <Rows charge={charge} unit={unit} onChange={onChange} />}
        <Group justify="flex-end">
          <Button size="compact-xs" variant="default" onClick={onRemove}>
            Remove {label.toLowerCase()}
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  )
}

/** Tiers begin with one that has no end, because the last tier of a charge has none. */
function withModel(charge: ChargeDraft, model: ChargeDraft['model']): ChargeDraft {
  const hasTiers = model === 'graduated' || model === 'volume'
  const tiers = hasTiers && charge.tiers.length === 0 ? [newTier] : charge.tiers
  return { ...charge, model, tiers }
}

type PartProps = Pick<Props, 'charge' | 'onChange'> & { readonly unit: string }

function Tiers({ charge, unit, onChange }: PartProps): ReactElement {
  const { tiers } = charge
  const set = (index: number, changed: Partial<TierDraft>): void => {
    onChange({
      ...charge,
      tiers: tiers.map((each, at) => (at === index ? { ...each, ...changed } : each)),
    })
  }
  return (
    <>
      {tiers.map((tier, index) => (
        <div key={index} className={styles['fields']} role="group" aria-label={`Tier ${index + 1}`}>
          <TextInput
            label={`Tier ${index + 1}: up to`}
            placeholder="No end"
            inputMode="decimal"
            value={tier.upTo}
            onChange={(event) => {
              set(index, { upTo: event.currentTarget.value })
            }}
          />
          <TextInput
            label={`Price per unit in ${unit}`}
            inputMode="decimal"
            value={tier.price}
            onChange={(event) => {
              set(index, { price: event.currentTarget.value })
            }}
          />
          <TextInput
            label="Once for the tier"
            inputMode="decimal"
            value={tier.flatPrice}
            onChange={(event) => {
              set(index, { flatPrice: event.currentTarget.value })
            }}
          />
          <Button
            variant="default"
            disabled={tiers.length === 1}
            onClick={() => {
              onChange({ ...charge, tiers: tiers.filter((_, at) => at !== index) })
            }}
          >
            Remove tier {index + 1}
          </Button>
        </div>
      ))}
      <Group>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => {
            onChange({ ...charge, tiers: [...tiers.slice(0, -1), newTier, ...tiers.slice(-1)] })
          }}
        >
          Add a tier
        </Button>
      </Group>
    </>
  )
}

function Rows({ charge, unit, onChange }: PartProps): ReactElement {
  const { rows } = charge
  const set = (index: number, changed: Partial<RowDraft>): void => {
    onChange({
      ...charge,
      rows: rows.map((each, at) => (at === index ? { ...each, ...changed } : each)),
    })
  }
  return (
    <>
      {rows.map((row, index) => (
        <div key={index} className={styles['fields']} role="group" aria-label={`Row ${index + 1}`}>
          <TextInput
            label={`Row ${index + 1}: dimensions`}
            placeholder="model=large"
            value={row.when}
            onChange={(event) => {
              set(index, { when: event.currentTarget.value })
            }}
          />
          <TextInput
            label={`Price per unit in ${unit}`}
            inputMode="decimal"
            value={row.price}
            onChange={(event) => {
              set(index, { price: event.currentTarget.value })
            }}
          />
          <Button
            variant="default"
            onClick={() => {
              onChange({ ...charge, rows: rows.filter((_, at) => at !== index) })
            }}
          >
            Remove row {index + 1}
          </Button>
        </div>
      ))}
      <Group>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => {
            onChange({ ...charge, rows: [...rows, newRow] })
          }}
        >
          Add a row
        </Button>
      </Group>
    </>
  )
}
