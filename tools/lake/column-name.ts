/** `placementId`, `Placement ID` and `placement_id` are the same name to a reader. */
export const bare = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
