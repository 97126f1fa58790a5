import type { ReactElement, ReactNode } from 'react'
import styles from './facts.module.css'

type Fact = { readonly label: string; readonly value: ReactNode }

/** Shows values with their names. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }): ReactElement {
  return (
    <dl className={styles['facts']}>
      {facts.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
