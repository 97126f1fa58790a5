import type { ReactElement } from 'react'
import { taxCountryCodes } from '@tollgate/domain/tax/tax-countries'
import { elsewhere, type BillingField } from './billing-form.ts'
import type { Billing } from './read-billing.ts'

/** Where a customer is, and as what it buys: asked for where the tax depends on it, offered where it does not. */
export function BillingFields({ billing }: { readonly billing: Billing }): ReactElement {
  if (billing.isNeeded) {
    return (
      <fieldset>
        <legend>Billing details</legend>
        <Fields billing={billing} />
      </fieldset>
    )
  }
  const { isBusiness } = billing.form
  return (
    <details open={isBusiness || billing.wrong !== undefined}>
      <summary>Buying for a business?</summary>
      <Fields billing={billing} />
    </details>
  )
}

type FieldsProps = { readonly billing: Billing }

function Fields({ billing }: FieldsProps): ReactElement {
  const { form } = billing
  return (
    <div className="stack">
      <CountryField billing={billing} />
      <label className="check">
        <input type="checkbox" name="isBusiness" value="yes" defaultChecked={form.isBusiness} />I am
        buying for a business
      </label>
      <div className="stack of-business">
        <div>
          <label htmlFor="businessName">
            Company name <span className="quiet">(optional)</span>
          </label>
          <input
            id="businessName"
            name="businessName"
            defaultValue={form.businessName}
            maxLength={100}
            autoComplete="organization"
          />
        </div>
        <TaxIdField billing={billing} />
      </div>
    </div>
  )
}

function CountryField({ billing: { form, known, isNeeded, wrong } }: FieldsProps): ReactElement {
  const isKnown = known !== undefined && known.country !== null
  return (
    <div>
      <label htmlFor="country">Country</label>
      <select
        id="country"
        name="country"
        defaultValue={form.country}
        required={isNeeded}
        autoComplete="country"
        aria-describedby="country-complaint"
        aria-invalid={wrong === 'country'}
      >
        <option value="">Choose a country</option>
        {countries.map(({ code, name }) => (
          <option key={code} value={code}>
            {name}
          </option>
        ))}
        {!isKnown && <option value={elsewhere}>Another country</option>}
      </select>
      <Complaint field="country" wrong={wrong} text="Choose the country that you are in." />
    </div>
  )
}

function TaxIdField({ billing: { form, wrong } }: FieldsProps): ReactElement {
  return (
    <div>
      <label htmlFor="taxId">
        VAT or tax ID <span className="quiet">(optional)</span>
      </label>
      <input
        id="taxId"
        name="taxId"
        defaultValue={form.taxId}
        maxLength={50}
        autoComplete="off"
        spellCheck={false}
        aria-describedby="taxId-complaint"
        aria-invalid={wrong === 'taxId'}
      />
      <Complaint
        field="taxId"
        wrong={wrong}
        text={`That is not a tax ID of ${nameOf(form.country)}. Write it as on your invoices, with the letters of the country.`}
      />
    </div>
  )
}

type ComplaintProps = {
  readonly field: BillingField
  readonly wrong: BillingField | undefined
  readonly text: string
}

/** There in any case: a script puts in it what an update complains about. */
function Complaint({ field, wrong, text }: ComplaintProps): ReactElement {
  return (
    <p
      id={`${field}-complaint`}
      className="complaint"
      data-part={`${field}-complaint`}
      data-of={field}
    >
      {wrong === field ? text : ''}
    </p>
  )
}

const names = new Intl.DisplayNames('en', { type: 'region' })

function nameOf(code: string): string {
  return taxCountryCodes.includes(code) ? (names.of(code) ?? code) : 'that country'
}

const countries = taxCountryCodes
  .map((code) => ({ code, name: nameOf(code) }))
  .sort((one, other) => one.name.localeCompare(other.name, 'en'))
