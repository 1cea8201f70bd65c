/** Takes an item out of a short list, if it is there. */
export function remove<Item>(items: Item[], item: Item): void {
  const place = items.indexOf(item)
  if (place !== -1) items.splice(place, 1)
}
