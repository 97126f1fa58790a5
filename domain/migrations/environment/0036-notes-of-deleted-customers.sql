-- Notes of corrected periods of customers who are deleted. They are not billed, so nothing would ever look at the notes.

delete from corrected_periods using purchases, customers
  where purchases.provider_id = corrected_periods.provider_id and purchases.reference = corrected_periods.purchase_ref
    and customers.provider_id = purchases.provider_id and customers.reference = purchases.customer_ref
    and customers.status <> 'active';
