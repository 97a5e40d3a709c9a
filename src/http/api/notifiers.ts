import { PageQuery } from "../../forms/page.ts";
import { DeliveryView, EventView, NotifierInput, NotifierPatch, NotifierView } from "../../notifications/schema.ts";
import { EventQuery, type NotificationService } from "../../notifications/service.ts";
import { pageOf } from "../openapi.ts";
import type { Route } from "./route.ts";

export function notifierRoutes(services: { notifications: NotificationService }): readonly Route[] {
  const { notifications } = services;
  const tag = "notifiers";
  return [
    {
      method: "GET",
      path: "/notifiers",
      operation_id: "list_notifiers",
      summary: "List notifiers by name, with their last delivery",
      tag,
      access: "read",
      query: PageQuery,
      answer: { status: 200, description: "A page of notifiers", schema: pageOf(NotifierView) },
      perform: ({ query }) => notifications.list(query),
    },
    {
      method: "POST",
      path: "/notifiers",
      operation_id: "create_notifier",
      summary: "Create a notifier",
      tag,
      access: "full",
      body: NotifierInput,
      answer: { status: 201, description: "The notifier", schema: NotifierView },
      idempotent: { events: ["notifier_created"], again: ({ id }) => notifications.get(id) },
      perform: ({ context, body }) => notifications.create(context.get("actor"), body),
    },
    {
      method: "GET",
      path: "/notifiers/{id}",
      operation_id: "get_notifier",
      summary: "Read a notifier; of its URL only host and port are shown",
      tag,
      access: "read",
      answer: { status: 200, description: "The notifier", schema: NotifierView },
      perform: ({ param }) => notifications.get(param("id")),
    },
    {
      method: "PATCH",
      path: "/notifiers/{id}",
      operation_id: "update_notifier",
      summary: "Change a notifier; what is left out or blank stays",
      tag,
      access: "full",
      body: NotifierPatch,
      answer: { status: 200, description: "The notifier", schema: NotifierView },
      perform: ({ context, param, body }) => notifications.update(context.get("actor"), param("id"), body),
    },
    {
      method: "DELETE",
      path: "/notifiers/{id}",
      operation_id: "delete_notifier",
      summary: "Delete a notifier with its deliveries",
      tag,
      access: "full",
      answer: { status: 204, description: "Deleted", schema: null },
      perform: ({ context, param }) => notifications.remove(context.get("actor"), param("id")),
    },
    {
      method: "GET",
      path: "/notifiers/{id}/deliveries",
      operation_id: "list_deliveries",
      summary: "List a notifier's deliveries with their attempts, newest first",
      tag,
      access: "read",
      query: PageQuery,
      answer: { status: 200, description: "A page of deliveries", schema: pageOf(DeliveryView) },
      perform: ({ param, query }) => notifications.listDeliveries(param("id"), query),
    },
    {
      method: "POST",
      path: "/notifiers/{id}/deliveries",
      operation_id: "send_test",
      summary: "Send one test message now and return how it went",
      tag,
      access: "full",
      answer: { status: 201, description: "The delivery with its one attempt", schema: DeliveryView },
      idempotent: { events: ["notifier_tested"], again: null },
      perform: ({ context, param }) =>
        notifications.sendTest(context.get("actor"), param("id"), context.req.raw.signal),
    },
    {
      method: "GET",
      path: "/events",
      operation_id: "list_events",
      summary: "List what happened, newest first",
      tag: "events",
      access: "read",
      query: EventQuery,
      answer: { status: 200, description: "A page of events", schema: pageOf(EventView) },
      perform: ({ query }) => notifications.listEvents(query),
    },
  ];
}
