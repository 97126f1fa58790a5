-- Agreed prices are in a currency of their own. Those from before had that of the plan, whichever it is when somebody asks.
-- Written by: control-plane, with the other overrides of the customer and product.

-- Returns the prices with the currency that their plan has now. Those of a plan that is not stored keep having none.
create function prices_in_currencies(provider text, prices jsonb) returns jsonb language sql stable as $$
  select coalesce(jsonb_agg(
      case when agreed ? 'currency' or plans.currency is null then agreed
        else agreed || jsonb_build_object('currency', plans.currency) end order by place), '[]')
  from jsonb_array_elements(prices) with ordinality as listed (agreed, place)
  left join plans on plans.provider_id = provider and plans.reference = agreed ->> 'planRef'
$$;

-- Versions of before prices could be agreed have none.
update customer_overrides set prices = prices_in_currencies(provider_id, prices), history = (
    select coalesce(jsonb_agg(
        case when version ? 'prices'
          then version || jsonb_build_object('prices', prices_in_currencies(provider_id, version -> 'prices'))
          else version end order by place), '[]')
    from jsonb_array_elements(history) with ordinality as listed (version, place))
where jsonb_path_exists(prices, '$[*] ? (!exists(@.currency))')
  or jsonb_path_exists(history, '$[*].prices[*] ? (!exists(@.currency))');

drop function prices_in_currencies;
