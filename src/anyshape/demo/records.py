"""The small world that the demo's tools speak of."""

from __future__ import annotations

import base64
from typing import Literal, TypedDict

from pydantic import BaseModel, Field


class HourlyForecast(BaseModel):
    """The weather in one hour."""

    hour: str
    temp: int
    conditions: str


class User(TypedDict):
    """A user of the system."""

    id: str
    name: str
    email: str


class Person(BaseModel):
    """A person; nobody real."""

    name: str
    age: int = Field(ge=0)


class Folder(BaseModel):
    """A folder and what is in it."""

    name: str
    bytes: int = 0
    folders: list[Folder] = []


class Wind(BaseModel):
    """Speed in km/h, direction as a compass point."""

    speed: float
    direction: str


class Conditions(BaseModel):
    """The weather now."""

    temperature: float
    humidity: float
    conditions: str
    wind: Wind


class Day(BaseModel):
    """The forecast for one day."""

    date: str = Field(json_schema_extra={"format": "date"})
    high: float
    low: float
    conditions: str


class Coordinates(BaseModel):
    """A point on the globe."""

    latitude: float
    longitude: float


class Location(BaseModel):
    """A city."""

    city: str
    country: str
    coordinates: Coordinates


class WeatherData(BaseModel):
    """Current conditions, forecast and place."""

    current: Conditions
    forecast: list[Day]
    location: Location


class Quote(BaseModel):
    """The price of sending a parcel."""

    price: float
    currency: Literal["EUR"] = "EUR"
    days: int


class Seat(BaseModel):
    """A place in an aeroplane."""

    row: int = Field(ge=1, le=30, description="The row, counted from the front")
    side: Literal["window", "aisle"] = "window"


class Booking(BaseModel):
    """A seat on a flight."""

    flight: str
    seat: Seat


FORECAST = [
    HourlyForecast(hour="09:00", temp=68, conditions="sunny"),
    HourlyForecast(hour="10:00", temp=72, conditions="partly cloudy"),
    HourlyForecast(hour="11:00", temp=75, conditions="cloudy"),
]

USERS: list[User] = [
    {"id": "u1", "name": "Alice", "email": "alice@example.com"},
    {"id": "u2", "name": "Bob", "email": "bob@example.com"},
]

RESOURCES = {
    "7f1c8a52-9d1c-4f0e-8a53-6e5a3c2b1d00": "blueprint",
    "0b6f2f0e-1f3a-4d8c-9a55-b2f4a7c9e811": "invoice",
}

LOGO = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)

PEOPLE = {"ada": Person(name="Ada", age=36), "alan": Person(name="Alan", age=41)}

ROOT = Folder(
    name="/",
    folders=[
        Folder(name="docs", bytes=1_200, folders=[Folder(name="guides", bytes=800)]),
        Folder(name="src", bytes=64_000),
    ],
)

WEATHER = WeatherData(
    current=Conditions(
        temperature=22.5,
        humidity=65,
        conditions="Partly cloudy",
        wind=Wind(speed=12, direction="NW"),
    ),
    forecast=[
        Day(date="2024-03-28", high=25, low=18, conditions="Sunny"),
        Day(date="2024-03-29", high=23, low=17, conditions="Cloudy"),
    ],
    location=Location(
        city="San Francisco",
        country="US",
        coordinates=Coordinates(latitude=37.7749, longitude=-122.4194),
    ),
)
