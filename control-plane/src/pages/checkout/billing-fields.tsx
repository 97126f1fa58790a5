import type { ReactElement } from 'react'
import { partsOfPlace, taxCountryCodes } from '@tollgate/domain/tax/tax-countries'
import { countryName } from '../countries.ts'
import { CountrySelect } from '../country-select.tsx'
import type { Reader } from '../reader.ts'
import type { BillingField } from './billing-form.ts'
import type { Billing } from './read-billing.ts'

/** The customer's country and business details. They are required if the tax depends on them, and optional otherwise. */
export function BillingFields(props: FieldsProps): ReactElement {
  const { billing, reader } = props
  const { t } = reader
  if (billing.isNeeded) {
    return (
      <fieldset>
        <legend>{t('checkout:billingDetails')}</legend>
        <Fields {...props} />
      </fieldset>
    )
  }
  const { isBusiness } = billing.form
  return (
    <details open={isBusiness || billing.invalidField !== undefined}>
      <summary>{t('checkout:forBusiness')}</summary>
      <Fields {...props} />
    </details>
  )
}

type FieldsProps = { readonly billing: Billing; readonly reader: Reader }

function Fields(props: FieldsProps): ReactElement {
  const { billing, reader } = props
  const { t } = reader
  const { form } = billing
  return (
    <div className="stack">
      <CountryField {...props} />
      <label className="check">
        <input type="checkbox" name="isBusiness" value="yes" defaultChecked={form.isBusiness} />
        {t('checkout:iAmBusiness')}
      </label>
      <div className="stack of-business">
        <div>
          <label htmlFor="businessName">
            {t('checkout:companyName')} <span className="quiet">{t('checkout:optional')}</span>
          </label>
          <input
            id="businessName"
            name="businessName"
            defaultValue={form.businessName}
            maxLength={100}
            autoComplete="organization"
          />
        </div>
        <TaxIdField {...props} />
      </div>
    </div>
  )
}

function CountryField({ billing, reader }: FieldsProps): ReactElement {
  const { form, known, isNeeded, isStateNeeded, invalidField } = billing
  const { t } = reader
  return (
    <div>
      <CountrySelect
        reader={reader}
        value={form.country}
        isRequired={isNeeded}
        hasStates={isStateNeeded}
        isKnown={known !== undefined && known.country !== null}
        isInvalid={invalidField === 'country'}
        describedBy="country-complaint"
      />
      <FieldError
        field="country"
        invalidField={invalidField}
        text={t('checkout:chooseYourCountry')}
      />
    </div>
  )
}

function TaxIdField({ billing, reader }: FieldsProps): ReactElement {
  const { form, invalidField } = billing
  const { t } = reader
  return (
    <div>
      <label htmlFor="taxId">
        {t('checkout:taxId')} <span className="quiet">{t('checkout:optional')}</span>
      </label>
      <input
        id="taxId"
        name="taxId"
        defaultValue={form.taxId}
        maxLength={50}
        autoComplete="off"
        spellCheck={false}
        aria-describedby="taxId-complaint"
        aria-invalid={invalidField === 'taxId'}
      />
      <FieldError
        field="taxId"
        invalidField={invalidField}
        text={taxIdFault(form.country, reader)}
      />
    </div>
  )
}

type FieldErrorProps = {
  readonly field: BillingField
  readonly invalidField: BillingField | undefined
  readonly text: string
}

/** Always rendered, because a script inserts the complaints of an update here. */
function FieldError({ field, invalidField, text }: FieldErrorProps): ReactElement {
  return (
    <p
      id={`${field}-complaint`}
      className="complaint"
      data-part={`${field}-complaint`}
      data-of={field}
    >
      {invalidField === field ? text : ''}
    </p>
  )
}

function taxIdFault(code: string, reader: Reader): string {
  const { t } = reader
  if (!taxCountryCodes.includes(partsOfPlace(code).country)) return t('checkout:taxIdWrong')
  return t('checkout:taxIdWrongFor', { country: countryName(code, reader) })
}
